//! Evidence to moves: what the sensors showed, which ply explains it, how sure that is.
