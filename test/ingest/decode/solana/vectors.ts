/** Real program bytes with the fields another decoder read from them. */
import { hasRecordings } from '../../../rig/recordings.js'
import { sharedJson } from './real-transactions.js'

type Vector = { program_test: string; payload_hex: string[]; fields: Record<string, string> }

export function vectorsOf(program: string): { name: string; hex: string; fields: Record<string, string> }[] {
  if (!hasRecordings) return []
  return (sharedJson('pinax/event_payloads.json') as Vector[])
    .filter(({ program_test }) => program_test.startsWith(`${program}:`))
    .map(({ program_test, payload_hex, fields }) => ({
      name: program_test.slice(program.length + 1),
      hex: payload_hex[0] ?? '',
      fields,
    }))
}
