"""Floors of data movement on a fabric: cuts, flows, trees and schedules in steps."""
