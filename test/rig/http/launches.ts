/** Launches in the surviving lines: the last stage and the platform. */
import type { ChainFamily } from '../../../services/core/domain/chains.js'
import { type RecordingLine, survivingBlocks } from '../reference/lines.js'

export type Launches = { platformOf(token: string): string; tagOf(token: string): string }

export function launchesOf(lines: readonly RecordingLine[], family: ChainFamily): Launches {
  const events = survivingBlocks(lines, family).flatMap((block) => block.events)
  const last = new Map(events.flatMap((event) => (event.type === 'launch' ? [[event.token, event] as const] : [])))
  return {
    platformOf: (token) => last.get(token)?.platform ?? '',
    tagOf: (token) => (last.get(token)?.stage === 'graduated' ? `${last.get(token)?.platform}_king` : ''),
  }
}
