// Writes the software bill of materials of the package (CycloneDX 1.5 JSON): every package that an installation brings, with
// version, licence and hash, from package-lock.json. (`npm sbom --omit dev` leaves out packages that development needs too.)
// `node infra/sbom.mjs [file]`; the package has it as dist/bundle/sbom.cdx.json.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = process.argv[2] ?? join(root, 'dist/bundle/sbom.cdx.json')
const { name, version, license, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))

const purlOf = (of, at) => `pkg:npm/${of.replace('@', '%40')}@${at}`

/** `sha512-` and base64, as in the lock file. */
function hashOf(integrity) {
  const [algorithm, base64] = integrity.split('-')
  return { alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(base64, 'base64').toString('hex') }
}

function componentOf([path, { name: real, version: at, license: terms, integrity, optional, devOptional }]) {
  const named = real ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return {
    ...{ type: 'library', name: named, version: at, 'bom-ref': `${path}@${at}`, purl: purlOf(named, at) },
    scope: optional || devOptional ? 'optional' : 'required',
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
    // An expression (`MIT OR Apache-2.0`) has its own field.
    ...(terms === undefined ? {} : { licenses: [/ (OR|AND) /.test(terms) ? { expression: terms } : licenceOf(terms)] }),
  }
}

/** What is not a name of SPDX is text. */
const licenceOf = (terms) => ({ license: /^[A-Za-z0-9.+-]+$/.test(terms) ? { id: terms } : { name: terms } })

const installed = Object.entries(packages).filter(
  ([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link,
)
const component = {
  type: 'application',
  name,
  version,
  description,
  purl: purlOf(name, version),
  licenses: [licenceOf(license)],
}
const bom = {
  ...{ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 },
  metadata: { component },
  components: installed.map(componentOf),
}
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`)
process.stdout.write(`${file}: ${bom.components.length} packages\n`)
