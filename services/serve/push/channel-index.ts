import { addressOf, WHOLE_CHAIN } from './params.js'
import type { Publisher } from './topic.js'

/** Who listens to which channels. */
export interface ChannelIndex<Member> extends Pick<Publisher, 'isWanted' | 'concerns'> {
  add(member: Member, channels: readonly string[]): void
  remove(member: Member, channels: readonly string[]): void
  /** Each member once, even if it listens to several of the channels. */
  membersOf(channels: readonly string[]): Iterable<Member>
  /** Whether a channel names one of the addresses, or a whole chain. */
  namesAny(addresses: ReadonlySet<string>): boolean
}

export function createChannelIndex<Member>(): ChannelIndex<Member> {
  const members = new Map<string, Set<Member>>()
  /** Channels per address: most updates concern none of them. */
  const named = new Map<string, number>()

  function name(channel: string, by: number): void {
    const address = addressOf(channel)
    const left = (named.get(address) ?? 0) + by
    if (left === 0) named.delete(address)
    else named.set(address, left)
  }

  return {
    add(member, channels) {
      for (const channel of channels) {
        const known = members.get(channel)
        if (known !== undefined) {
          known.add(member)
          continue
        }
        members.set(channel, new Set<Member>().add(member))
        name(channel, 1)
      }
    },
    remove(member, channels) {
      for (const channel of channels) {
        const known = members.get(channel)
        known?.delete(member)
        if (known?.size !== 0) continue
        members.delete(channel)
        name(channel, -1)
      }
    },
    membersOf(channels) {
      const [only] = channels
      if (channels.length === 1 && only !== undefined) return members.get(only) ?? []
      const all = new Set<Member>()
      for (const channel of channels) for (const member of members.get(channel) ?? []) all.add(member)
      return all
    },
    isWanted: (channel) => members.has(channel),
    concerns(...addresses) {
      for (const address of addresses) if (named.has(address)) return true
      return named.has(WHOLE_CHAIN)
    },
    namesAny(addresses) {
      if (named.has(WHOLE_CHAIN)) return true
      const [fewer, others] = named.size < addresses.size ? [named.keys(), addresses] : [addresses, named]
      for (const address of fewer) if (others.has(address)) return true
      return false
    },
  }
}
