export function WalletView() {
  return <p />
}
