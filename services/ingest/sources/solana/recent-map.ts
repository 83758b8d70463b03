/** A map of the most recently used entries, up to a maximum. */
export class RecentMap<K, V> {
  private readonly entries = new Map<K, V>()

  constructor(private readonly max: number) {}

  get(key: K): V | undefined {
    const value = this.entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  delete(key: K): void {
    this.entries.delete(key)
  }

  set(key: K, value: V): void {
    // A map keeps insertion order: the last is the newest.
    this.entries.delete(key)
    this.entries.set(key, value)
    if (this.entries.size <= this.max) return
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest)
      return
    }
  }
}
