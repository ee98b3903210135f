// @slow
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: files contain such placeholders.
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { unlockManagedObject } from '../../src/account/managed-object.ts'
import { openMountedFile } from '../../src/configuration/mounted-file.ts'
import { closeYamlProcess } from '../../src/configuration/yaml-process.ts'
import { otherVariables } from '../../src/core/config.ts'
import { MINUTE } from '../../src/core/time.ts'
import { updateService } from '../../src/status/service/service.ts'
import type { Tenant } from '../status/setup.ts'
import { noon } from '../support/context.ts'
import { testDatabase } from '../support/database.ts'
import { temporaryDirectory } from '../support/scratch.ts'
import { configuredIn } from './setup.ts'

const database = await testDatabase()
const { prisma } = database
const configured = configuredIn(database)
const { path: directory, remove } = await temporaryDirectory()
afterAll(async () => {
  await closeYamlProcess()
  await remove()
})

let [time, count] = [noon, 0]
const names = async ({ id }: Tenant) =>
  (await prisma.service.findMany({ where: { organizationId: id }, orderBy: { name: 'asc' } })).map(({ name }) => name)

/** Sets up an organization with a file, and instances that mount it. */
async function mounted(slug?: string) {
  const tenant = await configured.tenant()
  const path = join(directory, `${++count}.yaml`)
  const ctx = configured.ctx(tenant)
  const config = { ...ctx.config, CONFIG_FILE: path, CONFIG_ORGANIZATION: slug ?? tenant.slug }
  const instance = (at = path) => {
    const values = otherVariables({ TOKEN: 'abc', SECRET_KEY: 'never' })
    const file = openMountedFile({ ...ctx, config: { ...config, CONFIG_FILE: at }, now: () => time }, values)
    if (file === null) throw new Error('There is no file.')
    return file
  }
  return { tenant, path, instance }
}

test('is null without the setting', async () => {
  const tenant = await configured.tenant()
  expect(openMountedFile(configured.ctx(tenant), {})).toBe(null)
})

test('applies the file at the start, and again only when it changes', async () => {
  const { tenant, path, instance } = await mounted()
  await writeFile(path, 'allclear: 1\nservices: { api: { name: API, description: "${TOKEN}" } }')
  const file = instance()
  await file.run()
  expect(file.state()).toEqual({ appliedAt: time, failure: null })
  const api = await prisma.service.findFirstOrThrow({ where: { organizationId: tenant.id } })
  expect(api).toMatchObject({ name: 'API', description: 'abc' })
  expect(await prisma.managedObject.findMany({ where: { organizationId: tenant.id } })).toMatchObject([
    { file: `${count}.yaml`, key: 'api' },
  ])
  // A manual change stays until the file changes or the service restarts.
  await unlockManagedObject(configured.ctx(tenant), api.id)
  await updateService(configured.ctx(tenant), { id: api.id, name: 'Interface' })
  await file.run()
  expect(await names(tenant)).toEqual(['Interface'])
  await instance().run()
  expect(await names(tenant)).toEqual(['API'])
  await writeFile(path, 'allclear: 1\nservices: { api: { name: API }, web: { name: Web } }')
  await file.run()
  expect(await names(tenant)).toEqual(['API', 'Web'])
})

test('detects a file replaced by swapping links, as Kubernetes does', async () => {
  const { tenant, instance } = await mounted()
  const mount = join(directory, 'mount')
  const version = async (name: string, yaml: string) => {
    await mkdir(join(mount, name), { recursive: true })
    await writeFile(join(mount, name, 'allclear.yaml'), yaml)
    await symlink(name, join(mount, '..data_tmp'))
    await rename(join(mount, '..data_tmp'), join(mount, '..data'))
  }
  await version('..1', 'allclear: 1\nservices: { one: { name: One } }')
  await symlink('..data/allclear.yaml', join(mount, 'allclear.yaml'))
  const file = instance(join(mount, 'allclear.yaml'))
  await file.run()
  await version('..2', 'allclear: 1\nservices: { one: { name: Two } }')
  await rm(join(mount, '..1'), { recursive: true })
  await file.run()
  expect(await names(tenant)).toEqual(['Two'])
})

test('a refused or missing file changes nothing, is logged, and is retried', async () => {
  const { tenant, path, instance } = await mounted()
  const file = instance()
  await file.run()
  expect(file.state().failure?.message).toContain('ENOENT')
  await writeFile(path, 'allclear: 1\nservices:\n  api: { name: API, description: "${SECRET_KEY}", group: none }')
  await file.run()
  expect(file.state()).toEqual({
    appliedAt: null,
    failure: { at: time, message: expect.stringMatching(/^line 3, services\.api\.description: .*SECRET_KEY/) },
  })
  expect(JSON.stringify(file.state())).not.toContain('never')
  await writeFile(path, 'allclear: 1\nservices:\n  api: { name: API }')
  await configured.apply(tenant, 'allclear: 1\nservices: { api: { name: Api } }', { file: 'other.yaml' })
  await file.run()
  expect(file.state().failure?.message).toBe('line 3, services.api: is managed by other.yaml')
  await configured.apply(tenant, 'allclear: 1', { file: 'other.yaml' })
  await file.run()
  expect(await names(tenant)).toEqual(['Api'])
  time = new Date(time.getTime() + MINUTE)
  await file.run()
  expect(await names(tenant)).toEqual(['API'])
  expect(file.state()).toEqual({ appliedAt: time, failure: null })
})

test('several instances apply a file once, and one with an older file does not keep reverting it', async () => {
  const { tenant, path, instance } = await mounted()
  const services = Array.from({ length: 5 }, (_, index) => `s${index}: { name: S${index} }`).join(', ')
  await writeFile(path, `allclear: 1\nservices: { ${services} }`)
  const instances = [instance(), instance(), instance()]
  await Promise.all(instances.map((each) => each.run()))
  expect(instances.map((each) => each.state().failure)).toEqual([null, null, null])
  expect(await names(tenant)).toEqual(['S0', 'S1', 'S2', 'S3', 'S4'])
  const earlier = instance(path)
  await earlier.run()
  const news = await tenant.news()
  for (const each of [...instances, earlier, ...instances]) await each.run()
  expect(await tenant.news()).toEqual(news)
})

test('requires a slug if there are several organizations', async () => {
  const { path, instance } = await mounted('nobody')
  await writeFile(path, 'allclear: 1')
  const file = instance()
  await file.run()
  expect(file.state().failure?.message).toBe('There is no organization “nobody”.')
  const [one, other] = [await configured.tenant(), await configured.tenant()]
  const { CONFIG_ORGANIZATION: _, ...config } = { ...configured.ctx(one).config, CONFIG_FILE: path }
  const unclear = openMountedFile(
    { ...configured.ctx(other), config: { ...config, CONFIG_ORGANIZATION: undefined } },
    {},
  )
  await unclear?.run()
  expect(unclear?.state().failure?.message).toContain('Set CONFIG_ORGANIZATION')
})
