/** A dead letter as the log takes it, however large the thing it is about. `source` says where the whole thing is. */
import type { DeadLetter } from '../domain/records.js'
import type { Codec, Loose } from './codec.js'

/** The most bytes Avro takes for the length of `raw`. */
const LENGTH_BYTES = 5

export function encodeFittingLetter(
  codec: Pick<Codec, 'encodeDeadLetter'>,
  topic: string,
  letter: Loose<DeadLetter>,
  maxBytes: number,
): Buffer {
  const whole = codec.encodeDeadLetter(topic, letter)
  if (whole.byteLength <= maxBytes) return whole
  const { raw } = letter
  const detail = shortened(letter.detail, Math.floor(maxBytes / 8))
  const told = (keptBytes: number) => ({
    ...letter,
    detail: `${detail} (raw cut to ${keptBytes} of ${raw.length} bytes)`,
  })
  const beside = codec.encodeDeadLetter(topic, { ...told(raw.length), raw: raw.subarray(0, 0) }).byteLength
  const kept = raw.subarray(0, Math.max(0, maxBytes - beside - LENGTH_BYTES))
  return codec.encodeDeadLetter(topic, { ...told(kept.length), raw: kept })
}

/** A character takes at most three bytes, so an eighth of the limit in characters leaves room for the rest. */
function shortened(detail: string, maxLength: number): string {
  return detail.length <= maxLength ? detail : `${detail.slice(0, maxLength)}… (detail cut)`
}
