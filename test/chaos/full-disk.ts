import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, inject } from 'vitest'
import { SECOND } from '../../src/core/time.ts'
import { mutate } from '../support/filled-organization.ts'
import { freePort } from '../support/free-port.ts'
import { newOrganization, post } from '../support/graphql-client.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { operatorToken } from '../support/service-data.ts'

const run = promisify(execFile)
/** Room for a new embedded database and a little more. */
const SIZE = '160m'
/** The limits for reporting the full disk, and for recovering once there is room again, on a busy machine. */
const PATIENCE = 60 * SECOND

/** Why a small disk cannot be mounted; null: it can. */
export const diskMissing = process.getuid?.() === 0 ? null : 'only root may mount a tmpfs'

/**
 * Runs the service with its database and its log on a small disk, fills the disk during writes, kills the service,
 * frees the disk and starts the service again; counts accepted writes that are lost.
 */
export async function runFullDisk(): Promise<void> {
  const { path, remove } = await temporaryDirectory()
  const disk = `${path}/disk`
  await mkdir(disk)
  await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk])
  const url = `http://127.0.0.1:${await freePort()}`
  const start = () => {
    const log = openSync(`${disk}/log`, 'a')
    const { PATH, HOME, TMPDIR } = process.env
    const settings = {
      PORT: new URL(url).port,
      HOST: '127.0.0.1',
      ADMIN_TOKEN: operatorToken,
      DATA_DIR: `${disk}/data`,
    }
    const env = { PATH, HOME, TMPDIR, ...inject('geoFiles'), DNS_SERVERS: '127.0.0.1:9', ...settings }
    return spawn(process.execPath, ['dist/main.js'], { env, stdio: ['ignore', log, log] })
  }
  const readiness = () =>
    fetch(`${url}/readyz`).then(
      async (response) => ({
        status: response.status,
        ...((await response.json()) as { checks: { database: string } }),
      }),
      () => null,
    )
  const isReady = async () => (await readiness())?.checks.database === 'ok'
  let service = start()
  try {
    await expect.poll(isReady, { timeout: PATIENCE }).toBe(true)
    const { key } = await newOrganization(url)
    const story = { title: 'Chaos', status: 'INVESTIGATING', impact: 'MINOR', message: 'It begins.', services: [] }
    const incident = await mutate(url, key, 'createIncident', 'Incident', story)
    const accepted: string[] = []
    const update = async (message: string) => {
      const query = `mutation ($input: PostIncidentUpdateInput!) { postIncidentUpdate(input: $input) { __typename } }`
      const input = { incidentId: incident.id, status: 'MONITORING', message }
      const result = await post(url, { query, key, variables: { input } }).catch(() => null)
      const isAccepted = result?.data?.['postIncidentUpdate'] != null
      if (isAccepted) accepted.push(message)
      return isAccepted
    }
    for (let number = 0; number < 5; number += 1) await update(`before ${number}`)
    await writeFile(`${disk}/fill`, Buffer.alloc(200 * 1024 * 1024)).catch(() => {})
    let refused = 0
    for (let number = 0; number < 10; number += 1)
      if (!(await update(`full ${number} ${'x'.repeat(5000)}`))) refused += 1
    await expect.poll(async () => (await readiness())?.checks.database, { timeout: PATIENCE }).toBe('full')
    const alive = await fetch(`${url}/healthz`)
    await rm(`${disk}/fill`)
    await expect.poll(isReady, { timeout: PATIENCE }).toBe(true)
    const begun = performance.now()
    while (!(await update('after')) && performance.now() - begun < PATIENCE) await sleep(SECOND)
    service.kill('SIGKILL')
    await once(service, 'exit')
    service = start()
    await expect.poll(isReady, { timeout: PATIENCE }).toBe(true)
    const page = await post(url, {
      key,
      query: `query ($id: ID!) { node(id: $id) { ... on Incident { updates(first: 100) { nodes { message } } } } }`,
      variables: { id: incident.id },
    })
    const { updates } = (page.data as unknown as { node: { updates: { nodes: { message: string }[] } } }).node
    const stored = updates.nodes.map(({ message }) => message)
    const lost = accepted.filter((message) => !stored.includes(message)).length
    process.stdout.write(`\nfull disk: ${accepted.length} writes accepted, ${refused} refused, ${lost} lost\n`)
    expect(alive.status).toBe(200)
    expect(lost).toBe(0)
    expect(new Set(stored).size).toBe(stored.length)
    expect(accepted).toContain('after')
  } finally {
    service.kill('SIGKILL')
    await once(service, 'exit').catch(() => {})
    await run('umount', ['-l', disk])
    await remove()
  }
}
