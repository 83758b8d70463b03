/** docs/protocols.md matches the tables in the code. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { BUILT_IN_CONTRACTS } from '../../services/core/config/evm-source.js'
import { SOLANA_AMMS, SOLANA_PROGRAMS } from '../../services/core/domain/exchanges.js'
import { PROTOCOLS } from '../../services/ingest/decode/evm/protocols.js'

const page = readFileSync(join(repositoryRoot(), 'docs/protocols.md'), 'utf8')
const rows = page.matchAll(/^\| `([^`]+)` \| ([^|]*) \|/gm)
const byName = new Map([...rows].map(([, name = '', rest = '']) => [name, rest]))

describe('docs/protocols.md', () => {
  it.each([...BUILT_IN_CONTRACTS])('lists the exchanges of %s', (chain, contracts) => {
    const listed = (byName.get(chain) ?? '').trim().split(' ')
    expect(contracts.filter(({ amm }) => !listed.includes(amm))).toEqual([])
  })

  it('describes the reserves of every protocol', () => {
    expect(PROTOCOLS.map(({ name }) => name).filter((name) => !byName.has(name))).toEqual([])
  })

  it('lists the exchanges of solana', () => {
    expect((byName.get('solana') ?? '').trim().split(' ').sort()).toEqual(SOLANA_AMMS)
  })

  it.each(SOLANA_PROGRAMS)(
    'describes what is decoded for $name, where amounts come from, and its reserves',
    (program) => {
      expect(page).toContain(`| \`${program.name}\` | \`${program.programId}\` | ${program.amm} |`)
      const named = page
        .split('\n')
        .filter((line) => line.startsWith('|') && firstCell(line).includes(`\`${program.name}\``))
      expect(named.length).toBeGreaterThanOrEqual(3)
    },
  )
})

function firstCell(row: string): string {
  return row.split('|')[1] ?? ''
}
