//! The wires over real HTTP, and agents as real processes.

#[cfg(test)]
mod catalog;
#[cfg(test)]
mod command;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod hub;
#[cfg(test)]
mod otlp;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod support;
