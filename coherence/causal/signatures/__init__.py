"""Tests for the signatures of five ways in which unlike infrastructure loses coherence, each against its bottleneck."""
