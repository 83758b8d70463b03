/** A log whose appends fail at random, some after writing only part of the entries, as in a crash. */
import type { EventLog } from '../../../services/core/log/port.js'
import type { Random } from '../market/random.js'

export class Crash extends Error {}

export function crashingLog(log: EventLog, random: Random, probability: number): EventLog {
  return {
    ...log,
    async append(topic, entries) {
      if (random.next() >= probability) return log.append(topic, entries)
      const written = Math.floor(random.next() * (entries.length + 1))
      if (written > 0) await log.append(topic, entries.slice(0, written))
      throw new Crash(`died after ${written} of ${entries.length} entries`)
    },
  }
}
