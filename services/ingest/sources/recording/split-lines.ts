/** Splits bytes into lines with their offsets, one chunk at a time. */
import type { Chunks } from './recording-bytes.js'

export const LINE_MAX_BYTES = 64 * 1024 * 1024
/** Bytes of an oversized line that are kept for its dead letter. */
const KEPT_BYTES = 64 * 1024
const NEWLINE = 0x0a
const RETURN = 0x0d

export type Line = {
  /** Without its line end. Only the start if the line is oversized. */
  bytes: Buffer
  /** Offsets in the unpacked bytes: of its first byte, and after its line end. */
  start: number
  end: number
  /** False for an unterminated last line: it may still be growing. */
  terminated: boolean
  tooLong: boolean
}

export async function* splitLines(chunks: Chunks, from = 0, maxBytes = LINE_MAX_BYTES): AsyncGenerator<Line[]> {
  let pieces: Buffer[] = []
  let pending = 0
  let start = from

  function keep(piece: Buffer): void {
    if (piece.length === 0) return
    if (pending <= maxBytes) pieces.push(piece)
    pending += piece.length
    if (pending > maxBytes && pieces.length > 1) pieces = [Buffer.from(Buffer.concat(pieces).subarray(0, KEPT_BYTES))]
  }

  function finish(terminated: boolean): Line {
    const tooLong = pending > maxBytes
    const whole = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
    const bytes = tooLong ? whole.subarray(0, KEPT_BYTES) : withoutReturn(whole)
    const end = start + pending + (terminated ? 1 : 0)
    const line = { bytes, start, end, terminated, tooLong }
    pieces = []
    pending = 0
    start = end
    return line
  }

  for await (const chunk of chunks) {
    const lines: Line[] = []
    let at = 0
    for (let next = chunk.indexOf(NEWLINE); next !== -1; next = chunk.indexOf(NEWLINE, at)) {
      keep(chunk.subarray(at, next))
      lines.push(finish(true))
      at = next + 1
    }
    keep(chunk.subarray(at))
    if (lines.length > 0) yield lines
  }
  if (pending > 0) yield [finish(false)]
}

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes
}

/** Blank lines are skipped, not dead-lettered. */
export function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== RETURN) return false
  return true
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

export function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes
}
