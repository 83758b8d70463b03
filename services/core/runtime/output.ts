/** Output of commands on stdout: only results, for people or as JSON lines. */
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { type Paint, PLAIN } from './terminal.js'

export interface Output {
  /** Waits while the reader is slow. */
  line(text: string): Promise<void>
  json(value: unknown): Promise<void>
  /** Aligned columns; numbers to the right. */
  table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): Promise<void>
}

export function createOutput(stream: Writable, paint: Paint = PLAIN): Output {
  async function line(text: string): Promise<void> {
    if (!stream.write(`${text}\n`)) await once(stream, 'drain')
  }
  return {
    line,
    json: (value) => line(JSON.stringify(value)),
    async table(header, rows) {
      const [head = '', ...lines] = tableLines(header, rows)
      await line(paint.bold(head))
      for (const text of lines) await line(text)
    },
  }
}

export function tableLines(
  header: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] {
  const cells = [header, ...rows].map((row) => row.map(String))
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const rightAligned = header.map(
    (_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'),
  )
  return cells.map((row) =>
    row
      .map((cell, column) =>
        rightAligned[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}

/** `2024-01-05T00:00:11Z`, or a dash without a time. */
export function formatTime(ms: number | null): string {
  return ms === null || ms <= 0 ? '–' : `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** A closed pipe (`| head`) is not a failure. */
export function endQuietlyOnClosedPipe(stream: Writable, exit: (code: number) => void): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') exit(0)
    else throw error
  })
}
