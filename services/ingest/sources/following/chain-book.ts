/** What following a chain does with a book, whatever its family keeps in it. */
import type { JournaledMap } from './journaled-map.js'

export type ChainBook = Pick<
  JournaledMap,
  'begin' | 'end' | 'rollback' | 'groundOf' | 'forget' | 'commit' | 'clear' | 'close'
> & {
  readonly steps: JournaledMap['steps']
  /** The block it began with, when it was empty. */
  first(): number | undefined
}

export const chainBook = (map: JournaledMap): ChainBook => ({
  steps: map.steps,
  first: () => map.first,
  begin: (step) => map.begin(step),
  end: (published) => map.end(published),
  rollback: (number) => map.rollback(number),
  groundOf: (hash) => map.groundOf(hash),
  forget: (finalNumber) => map.forget(finalNumber),
  commit: (finalNumber, at) => map.commit(finalNumber, at),
  clear: () => map.clear(),
  close: () => map.close(),
})
