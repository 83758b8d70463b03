/** What the pairs of a batch were worth, by hour. */
import type { RowWriter } from '../../core/store/row-binary.js'
import type { HourFigures, PairHour } from '../fold/pair-hours.js'
import { NO_ROW, TimedRows } from './timed-rows.js'

export class PairHourRows extends TimedRows {
  constructor(
    private readonly chain: string,
    writer: RowWriter,
  ) {
    super(writer)
  }

  /** `newest`: the pair's newest row; returns the one it has then. */
  put(newest: number, { pair, hourS, figures }: PairHour, version: number): number {
    const known = this.find(newest, hourS)
    if (known === NO_ROW) {
      this.writer.text(this.chain)
      this.writer.text(pair)
      this.writer.uint32(hourS)
      const next = this.add(newest, hourS)
      this.putFigures(figures, version)
      return next
    }
    const end = this.seek(known)
    this.putFigures(figures, version)
    this.writer.position = end
    return newest
  }

  private putFigures(figures: HourFigures | null, version: number): void {
    const { writer } = this
    writer.double(figures?.priceUsd ?? null)
    writer.double(figures?.tvlUsd ?? null)
    writer.double(figures?.liquidityUsd ?? null)
    writer.double(figures?.supply ?? null)
    writer.double(figures?.supplyLeft ?? null)
    writer.uint64(version)
    writer.uint8(figures === null ? 1 : 0)
  }
}
