/** Bundles the simulation with the services' code, as it is or with a bug planted in it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { repositoryRoot } from '../../schemas/avro.js'

/** One change of one file: `from` must be in it exactly once. `seed`: play from this one on, where the first seeds do not catch it. */
export type PlantedBug = { name: string; file: string; from: string; to: string; seed?: number }

/** The text of its file with the bug. */
export function planted(text: string, { file, from, to }: PlantedBug): string {
  if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one "${from}"`)
  return text.replace(from, () => to)
}

/** The path of the bundle. */
export async function bundleSimulation(bug?: PlantedBug): Promise<string> {
  const root = repositoryRoot()
  const outfile = join(root, 'dist/simulation', `${bug?.name.replaceAll(/\W+/g, '-') ?? 'plain'}.mjs`)
  let isPlanted = bug === undefined
  await build({
    ...{ entryPoints: [join(root, 'test/simulation/main.ts')], outfile, bundle: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', target: 'node20', logLevel: 'error', sourcemap: 'inline' },
    plugins: [
      {
        name: 'plant-bug',
        setup({ onLoad }) {
          if (bug === undefined) return
          onLoad({ filter: new RegExp(`${bug.file.replaceAll('.', '\\.')}$`) }, ({ path }) => {
            isPlanted = true
            return { contents: planted(readFileSync(path, 'utf8'), bug), loader: 'ts' }
          })
        },
      },
    ],
  })
  if (!isPlanted) throw new Error(`the simulation does not run ${bug?.file}`)
  return outfile
}
