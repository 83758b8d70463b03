// An archive of the broker's loaded classes (JVM class data sharing): it halves the time and CPU of a start.
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JARS } from './jars.mjs'

const ARCHIVE = `${JARS}.jsa`

/** The archive is created last: if it exists, the jars do too. */
export const isArchived = () => existsSync(ARCHIVE)

/** Empty if creating it failed: a broker starts without it. The JVM ignores an archive of another Java version. */
export const archiveOptions = () =>
  isArchived() && statSync(ARCHIVE).size > 0 ? [`-XX:SharedArchiveFile=${ARCHIVE}`] : []

/** Runs a broker once with `startNode(directory, port, options)`; the JVM writes the archive at its exit. */
export async function makeArchive(startNode, report) {
  if (isArchived()) return
  report('starting the broker once to speed up later starts')
  const directory = mkdtempSync(join(tmpdir(), 'dextape-kafka-'))
  const part = `${ARCHIVE}.part`
  rmSync(part, { force: true })
  try {
    const node = await startNode(directory, await freePort(), [`-XX:ArchiveClassesAtExit=${part}`])
    await node.ready
    node.signal('SIGTERM')
    await node.ended
    renameSync(part, ARCHIVE)
  } catch (error) {
    report(`could not create the class archive, later starts stay slow: ${error.message}`)
    writeFileSync(ARCHIVE, '')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
