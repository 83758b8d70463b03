/** Fetches the local node before the first test, because that takes longer than a test's timeout. Failures surface in the tests that need it. */
import { fetched, PANCAKE_V2 } from './fetched.js'
import { fetchNode } from './programs.js'

export default async function fetchAhead(): Promise<void> {
  await fetchNode().catch(() => {})
  await fetched(PANCAKE_V2).catch(() => {})
}
