export function WatchlistView() {
  return <p />
}
