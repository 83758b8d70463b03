export function LaunchpadView() {
  return <p />
}
