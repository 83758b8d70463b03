/**
 * The pairs, or the tokens, of a batch as their last update left them: rows of numbers, which the garbage collector need not visit
 * while they wait to be stored.
 */
import { dayVolumeUsd, type PackedWindows, WINDOWS_LENGTH } from '../../core/domain/packed-windows.js'
import { Slab } from '../state/slab.js'
import { NO_ROW } from './timed-rows.js'

/** `Texts`: what a row has beside its figures and windows. */
export class BatchStates<Figure extends string, Texts> {
  private readonly rows: Slab
  private readonly slots = new Map<string, number>()
  private readonly addresses: string[] = []
  /** Null: a reorg removed it. */
  private readonly texts: (Texts | null)[] = []
  private readonly versionAt: number
  private readonly windowsAt: number
  private readonly seriesAt: number

  /** `series`: of how many series of timed rows the newest is kept. */
  constructor(
    private readonly figures: readonly Figure[],
    private readonly series = 0,
  ) {
    this.versionAt = figures.length
    this.windowsAt = this.versionAt + 1
    this.seriesAt = this.windowsAt + WINDOWS_LENGTH
    this.rows = new Slab(this.seriesAt + series)
  }

  get size(): number {
    return this.addresses.length
  }

  clear(): void {
    this.rows.clear()
    this.slots.clear()
    this.addresses.length = 0
    this.texts.length = 0
  }

  find(address: string): number | undefined {
    return this.slots.get(address)
  }

  /** Its row is a tombstone until it is set. */
  add(address: string): number {
    const slot = this.rows.add()
    for (let n = 0; n < this.series; n += 1) this.setNewestRow(slot, n, NO_ROW)
    this.slots.set(address, slot)
    this.addresses[slot] = address
    this.texts[slot] = null
    return slot
  }

  set(slot: number, entry: Readonly<Record<Figure, number>>, texts: Texts, windows: PackedWindows): void {
    const { figures, rows } = this
    for (let n = 0; n < figures.length; n += 1) rows.set(slot, n, entry[figures[n] as Figure])
    rows.setPart(slot, this.windowsAt, windows)
    this.texts[slot] = texts
  }

  remove(slot: number): void {
    this.texts[slot] = null
  }

  setVersion(slot: number, version: number): void {
    this.rows.set(slot, this.versionAt, version)
  }

  /** Of the n-th series of timed rows that belong to it. */
  newestRow(slot: number, n: number): number {
    return this.rows.get(slot, this.seriesAt + n)
  }

  setNewestRow(slot: number, n: number, row: number): void {
    this.rows.set(slot, this.seriesAt + n, row)
  }

  addressOf(slot: number): string {
    return this.addresses[slot] as string
  }

  textsOf(slot: number): Texts | null {
    return this.texts[slot] as Texts | null
  }

  versionOf(slot: number): number {
    return this.rows.get(slot, this.versionAt)
  }

  windowsOf(slot: number): PackedWindows {
    return this.rows.part(slot, this.windowsAt, WINDOWS_LENGTH)
  }

  /** Its figures, the volume of the day, windows and version, as its row ends. */
  lastCells(slot: number): (number | PackedWindows)[] {
    const windows = this.windowsOf(slot)
    const figures = this.figures.map((_, n) => this.rows.get(slot, n))
    return [...figures, dayVolumeUsd(windows), windows, this.versionOf(slot), 0]
  }
}
