/**
 * What an update says a pair or token is like after it. Of a decoded update, figures and windows are read from their bytes when they
 * are first asked for: most states are replaced before anyone does.
 */
import type { PackedWindows } from './packed-windows.js'
import type { PairUpdate } from './records.js'

/** Without what is the same after each update, and without the update's events. */
export type PairFigures = Omit<PairUpdate, 'pair' | 'info' | 'windows' | 'candles' | 'trades' | 'liquidity'>

export interface KeptWindows {
  readonly windows: PackedWindows
  /** Known without reading them. */
  readonly isEmpty: boolean
  /** Keeps nothing of the update in memory but these windows. */
  detach(): void
}

export interface KeptFigures extends KeptWindows {
  readonly figures: PairFigures
}

/** Of an entry of `codec.decodeLazily`, what it was read with; of any other, the entry itself. */
export function figuresOf(entry: PairFigures & { windows: PackedWindows }): KeptFigures {
  return (entry as { body?: KeptFigures }).body ?? new ReadFigures(entry)
}

/** The same for the windows of a token or of a pair that only got older. */
export function windowsIn(entry: { windows: PackedWindows }): KeptWindows {
  return (entry as { kept?: KeptWindows }).kept ?? new ReadWindows(entry.windows)
}

export class ReadWindows implements KeptWindows {
  constructor(readonly windows: PackedWindows) {}

  get isEmpty(): boolean {
    return this.windows.length === 0
  }

  detach(): void {}
}

class ReadFigures extends ReadWindows implements KeptFigures {
  constructor(readonly figures: PairFigures & { windows: PackedWindows }) {
    super(figures.windows)
  }
}
