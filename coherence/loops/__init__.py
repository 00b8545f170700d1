"""Engine of control loops: stability of networks, margins, limit cycles, waves, and the periods of oscillation."""
