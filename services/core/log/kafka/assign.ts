/** Who folds which chain: as even as can be, and nobody gives up a topic without need. */
export type Member = { id: string; owned: readonly string[] }

export function assignTopics(topics: readonly string[], members: readonly Member[]): Map<string, string[]> {
  const free = new Set([...topics].sort())
  const shares = [...members]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, owned }) => ({ id, owned, held: [] as string[] }))
  for (const { owned, held } of shares) held.push(...owned.filter((topic) => free.delete(topic)))
  const least = () => shares.reduce((a, b) => (b.held.length < a.held.length ? b : a))
  const most = () => shares.reduce((a, b) => (b.held.length > a.held.length ? b : a))
  if (shares.length === 0) return new Map()
  for (const topic of free) least().held.push(topic)
  while (most().held.length - least().held.length > 1) {
    const moved = most().held.pop()
    if (moved !== undefined) least().held.push(moved)
  }
  return new Map(shares.map(({ id, held }) => [id, held]))
}
