"""Pictures of loops as figures: responses with certified bands, roots, maps, cycles."""
