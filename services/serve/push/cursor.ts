import type { Update } from '../../core/domain/records.js'

/** `epoch:chain:seq:n`: the n-th push of an update. */
export type Cursor = (n: number) => string

export function cursorOf({ epoch, chain, seq }: Pick<Update, 'epoch' | 'chain' | 'seq'>): Cursor {
  return (n) => `${epoch}:${chain}:${seq}:${n}`
}
