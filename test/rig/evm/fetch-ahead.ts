/** Before the first test: fetching the local node takes longer than a test's time limit has room for. Where it fails, the tests that need it fail and say why. */
import { fetched, PANCAKE_V2 } from './fetched.js'
import { fetchNode } from './programs.js'

export default async function fetchAhead(): Promise<void> {
  await fetchNode().catch(() => {})
  await fetched(PANCAKE_V2).catch(() => {})
}
