mod definitions;
mod editors;
mod foresight;
mod golden;
mod laws;
mod rehearsals;
mod runs;
mod story;
