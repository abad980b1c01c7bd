export function Limits() {
  return null;
}
