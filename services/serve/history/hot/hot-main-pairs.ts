import type { BlockUpdate } from '../../../core/domain/records.js'
import type { MainPairChangeAt } from '../../memory/event-overlay.js'

const BYTES_A_SWITCH = 150

/** All main pair switches of a token, in block order. */
export class HotMainPairs {
  private switches: MainPairChangeAt[]

  constructor(switches: readonly MainPairChangeAt[]) {
    this.switches = [...switches]
  }

  get all(): readonly MainPairChangeAt[] {
    return this.switches
  }

  get bytes(): number {
    return this.switches.length * BYTES_A_SWITCH
  }

  apply(token: string, { kind, number, time, main_pair_changes }: BlockUpdate): void {
    if (kind === 'retract') {
      this.switches = this.switches.filter(({ blockNumber }) => blockNumber <= number)
      return
    }
    const change = main_pair_changes.findLast((one) => one.token === token)
    if (change === undefined) return
    const others = this.switches.filter(({ blockNumber }) => blockNumber !== number)
    const switched = { blockNumber: number, timeS: time, pair: change.new_pair }
    this.switches = [...others, switched].sort((a, b) => a.blockNumber - b.blockNumber)
  }
}
