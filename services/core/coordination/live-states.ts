/**
 * Which state topic of a chain is live. Switching to a replay is one record: its checkpoints are in a topic of its epoch and stay
 * there, since copying them would take as long as they are large.
 */
import { createKeyedTable } from '../log/keyed-table.js'
import { type EventLog, GENERATIONS_TOPIC } from '../log/port.js'

/** `epoch`: of the replay whose topic is live. `replaced`: of the one before; null is the topic without an epoch. */
export type LiveState = { epoch: number; replaced: number | null }

export interface LiveStates {
  /** As the log has it now; undefined: the topic without an epoch. */
  of(chain: string): Promise<LiveState | undefined>
  /** May be repeated. A later one stays: a process that was frozen in the middle of a switch may repeat an earlier one. */
  switchTo(chain: string, epoch: number): Promise<void>
}

const PREFIX = 'state/'

export function createLiveStates(log: EventLog): LiveStates {
  const table = createKeyedTable<LiveState>(log, GENERATIONS_TOPIC)

  async function of(chain: string): Promise<LiveState | undefined> {
    await table.refresh()
    return table.get(`${PREFIX}${chain}`)
  }

  return {
    of,
    async switchTo(chain, epoch) {
      const live = await of(chain)
      if ((live?.epoch ?? 0) < epoch) await table.put(`${PREFIX}${chain}`, { epoch, replaced: live?.epoch ?? null })
    },
  }
}
