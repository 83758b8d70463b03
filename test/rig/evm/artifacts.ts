/** The exchanges' bytecode, as shipped in their packages. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fetched, PANCAKE_V2 } from './fetched.js'

const require = createRequire(import.meta.url)

export const creationCode = {
  v2: (name: string): string => read(require.resolve(`@uniswap/v2-core/build/${name}.json`)),
  v2Periphery: (name: string): string => read(require.resolve(`@uniswap/v2-periphery/build/${name}.json`)),
  v3: (name: string): string => read(require.resolve(`@uniswap/v3-core/artifacts/contracts/${name}.sol/${name}.json`)),
  v3Periphery: (name: string): string =>
    read(require.resolve(`@uniswap/v3-periphery/artifacts/contracts/${name}.sol/${name}.json`)),
  v4: (name: string): string => read(require.resolve(`@uniswap/v4-core/out/${name}.sol/${name}.json`)),
  pancakeV2: async (name: string): Promise<string> => read(join(await fetched(PANCAKE_V2), `build/${name}.json`)),
  pancakeV3: (name: string): string =>
    read(require.resolve(`@pancakeswap/v3-core/artifacts/contracts/${name}.sol/${name}.json`)),
}

/** Hardhat and Waffle write the code, Foundry an object with it. */
function read(file: string): string {
  const { bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { bytecode: string | { object: string } }
  const code = typeof bytecode === 'string' ? bytecode : bytecode.object
  return code.startsWith('0x') ? code : `0x${code}`
}
