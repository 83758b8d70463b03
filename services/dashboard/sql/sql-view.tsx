export function SqlView() {
  return <p />
}
