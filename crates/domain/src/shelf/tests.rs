mod examples;
mod golden;
mod laws;
mod story;
