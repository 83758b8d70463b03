/** The candles of a batch. */
import { INTERVALS } from '../../core/domain/chains.js'
import { AT, CANDLE_WIDTH, FIRST_FIGURE, type PackedCandles } from '../../core/domain/packed-candles.js'
import type { RowWriter } from '../../core/store/row-binary.js'
import { NO_ROW, TimedRows } from './timed-rows.js'

export class CandleRows extends TimedRows {
  constructor(
    private readonly chain: string,
    writer: RowWriter,
  ) {
    super(writer)
  }

  /** Puts the candle at `at` of `data`. `newest`: the pair's newest row of the interval; returns the one it has then. */
  put(newest: number, pair: string, data: PackedCandles, at: number, version: number): number {
    const timeS = data[at + AT.timeS] as number
    const known = this.find(newest, timeS)
    if (known === NO_ROW) {
      this.putKey(pair, data[at + AT.interval] as number, timeS)
      const next = this.add(newest, timeS)
      this.putFigures(data, at, version)
      return next
    }
    const end = this.seek(known)
    this.putFigures(data, at, version)
    this.writer.position = end
    return newest
  }

  /** A tombstone of a removed pair's candle. */
  putGone(pair: string, interval: number, timeS: number, version: number): void {
    this.putKey(pair, interval, timeS)
    this.add(NO_ROW, timeS)
    for (let figure = FIRST_FIGURE; figure < CANDLE_WIDTH; figure += 1) this.writer.double(null)
    this.writer.uint64(version)
    this.writer.uint8(1)
  }

  private putKey(pair: string, interval: number, timeS: number): void {
    this.writer.text(this.chain)
    this.writer.text(pair)
    this.writer.text(INTERVALS[interval] ?? 's1')
    this.writer.uint32(timeS)
  }

  private putFigures(data: PackedCandles, at: number, version: number): void {
    const { writer } = this
    for (let figure = FIRST_FIGURE; figure < CANDLE_WIDTH; figure += 1) writer.double(data[at + figure] as number)
    writer.uint64(version)
    writer.uint8(data[at + AT.removed] as number)
  }
}
