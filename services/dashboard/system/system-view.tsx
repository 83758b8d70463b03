export function SystemView() {
  return <p />
}
