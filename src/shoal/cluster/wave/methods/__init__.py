"""The methods of private WaveCluster: each from rows to a released grid."""
