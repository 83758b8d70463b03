/** How far an export is: one line that changes on a terminal, otherwise a line now and then. */
export interface Progress {
  /** A folder has this many files with this many rows. */
  expect(files: number, rows: number): void
  add(bytes: number): void
  endFile(rows: number): void
  /** Prints the summary. */
  end(what: string, asOf: string): void
}

export type ProgressOptions = { write: (text: string) => void; isTerminal: boolean; nowMs: () => number }

const TERMINAL_EVERY_MS = 200
const LOG_EVERY_MS = 10_000

export function createProgress({ write, isTerminal, nowMs }: ProgressOptions): Progress {
  const startMs = nowMs()
  let shownMs = startMs
  let bytes = 0
  let done = { files: 0, rows: 0 }
  let expected = { files: 0, rows: 0 }

  const seconds = () => Math.max(0.001, (nowMs() - startMs) / 1000)

  function show(): void {
    if (nowMs() - shownMs < (isTerminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS)) return
    shownMs = nowMs()
    const rate = `${megabytes(bytes)}, ${megabytes(bytes / seconds())}/s`
    const files =
      expected.files === 0
        ? ''
        : `${done.files} of ${expected.files} files, ${counted(done.rows)} of ${counted(expected.rows)} rows, `
    write(isTerminal ? `\r\u001b[K${files}${rate}` : `${files}${rate}\n`)
  }

  return {
    expect(files, rows) {
      expected = { files, rows }
    },
    add(more) {
      bytes += more
      show()
    },
    endFile(rows) {
      done = { files: done.files + 1, rows: done.rows + rows }
      show()
    },
    end(what, asOf) {
      const rows = expected.files === 0 ? '' : `${counted(expected.rows)} rows in ${expected.files} files, `
      const state = asOf === '' ? '' : `, as of ${asOf}`
      write(
        `${isTerminal ? '\r\u001b[K' : ''}${what}: ${rows}${megabytes(bytes)} in ${seconds().toFixed(1)} s${state}\n`,
      )
    },
  }
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const counted = (count: number) => count.toLocaleString('en')
