import type { Client } from './client.js'

const OPEN_AT_ONCE = 50

/** Connects all clients, a few at a time; resolves once every subscription is acknowledged. */
export async function openAll(clients: readonly Client[], url: string): Promise<void> {
  const waiting = clients.values()
  const openNext = async () => {
    for (const client of waiting) await client.connect(url)
  }
  await Promise.all(Array.from({ length: OPEN_AT_ONCE }, openNext))
}
