export function CompareView() {
  return <p />
}
