import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../rig/http/command.js'

const POOL = '0xd0b53d9277642d899df5c87a3966a349a798f224'
const OTHER = '0x88a43bbdf9d098eec7bceda4e2494615dfd9bb9c'

const YAML = `# Ours.
http_port: 9000
chains:
  base:
    rpc: [https://secret@node.example] # paid until May
    pools:
      - "${POOL.toUpperCase().replace('0X', '0x')}"
`

function newFile(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-scope-'))
  const file = join(folder, 'dextape.yaml')
  writeFileSync(file, text)
  chmodSync(file, 0o640)
  const scope = (...args: string[]) => runCommand(['scope', ...args], { cwd: folder, env: { DEXTAPE_CONFIG: file } })
  return { scope, text: () => readFileSync(file, 'utf8'), mode: () => statSync(file).mode & 0o777 }
}

describe('scope', () => {
  it('shows what is read, adds and removes, and leaves the rest of the file as it was', async () => {
    const { scope, text } = newFile(YAML)
    expect((await scope()).out).toBe(`base (1 node, balances off)\n  pool ${POOL}\n`)
    const added = await scope('add', '--chain', 'base', '--pool', OTHER, POOL, '--amm', 'uniswapv3')
    expect({ code: added.code, out: added.out }).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${OTHER}, uniswapv3`),
    })
    expect((await scope()).out).toContain(`  pool ${OTHER}\n  exchange uniswapv3`)
    expect(text()).toContain('# Ours.\nhttp_port: 9000')
    expect(text()).toContain('# paid until May')
    expect((await scope('add', '--chain', 'base', '--pool', OTHER)).out).toContain('Nothing to add')
    expect((await scope('remove', '--chain', 'base', '--pool', POOL)).code).toBe(0)
    expect((await scope('remove', '--chain', 'base')).code).toBe(0)
    expect((await scope()).out).toBe('No chain is read from nodes.\n')
    const chain = await scope('add', '--chain', 'eth', '--rpc', 'https://key@other.example', '--start', '2024-01-05')
    expect(chain.out).toContain('a node, start 2024-01-05')
    expect(chain.out).not.toContain('key@')
    expect((await scope()).out).toBe('eth (1 node, balances off)\n  everything of the known exchanges\n')
  })

  it('adds and removes tokens whose holders are all to be known, without narrowing what is read', async () => {
    const { scope, text } = newFile('chains:\n  base:\n    rpc: [https://node.example]\n')
    const added = await scope('add', '--chain', 'base', '--holders', POOL.toUpperCase().replace('0X', '0x'))
    expect(added.out).toContain('All holders are read in the background')
    const read = 'base (1 node, balances off)\n  everything of the known exchanges\n'
    expect((await scope()).out).toBe(`${read}  all holders of ${POOL}\n`)
    expect((await scope('add', '--chain', 'base', '--holders', POOL)).out).toContain('Nothing to add')
    expect((await scope('remove', '--chain', 'base', '--holders', POOL)).code).toBe(0)
    expect((await scope()).out).toBe(read)
    expect(text()).not.toContain('holders')
  })

  it('keeps JSON as JSON', async () => {
    const { scope, text, mode } = newFile(
      JSON.stringify({ chains: { base: { rpc: ['https://node.example'], pools: [POOL] } } }),
    )
    expect((await scope('add', '--chain', 'base', '--pool', OTHER)).code).toBe(0)
    expect(mode()).toBe(0o640)
    expect(JSON.parse(text())).toEqual({ chains: { base: { rpc: ['https://node.example'], pools: [POOL, OTHER] } } })
  })

  it.each([
    [['remove', '--chain', 'base', '--pool', POOL], 'everything of it would be read'],
    [['remove', '--chain', 'base', '--pool', OTHER], `got ${OTHER}`],
    [['remove', '--chain', 'base', '--rpc', 'https://secret@node.example'], 'base would have no node left'],
    [['add', '--chain', 'base', '--pool', '0x12'], 'got "0x12"'],
    [['add', '--chain', 'bose', '--rpc', 'https://node.example'], 'unknown chain "bose"'],
  ])('refuses %j and changes nothing', async (args, why) => {
    const { scope, text } = newFile(YAML)
    const { code, err } = await scope(...args)
    expect({ code, err }).toMatchObject({ code: 78, err: expect.stringContaining(why) })
    expect(err).not.toContain('secret')
    expect(text()).toBe(YAML)
  })

  it('refuses to narrow a chain that is read as a whole', async () => {
    const { scope } = newFile('chains:\n  base:\n    rpc: [https://node.example]\n')
    expect((await scope('add', '--chain', 'base', '--pool', POOL)).err).toContain('All of base is read')
  })

  it('needs a configuration file', async () => {
    const { code, err } = await runCommand(['scope', 'add', '--chain', 'base', '--pool', POOL], { cwd: tmpdir() })
    expect({ code, err }).toMatchObject({ code: 78, err: expect.stringContaining('--config or DEXTAPE_CONFIG') })
  })
})
