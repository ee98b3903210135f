// @slow
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settingNames } from '../../src/core/config.ts'
import { interpolate } from '../support/compose.ts'
import { goMissing, type KubernetesObject, renderChart } from '../support/helm.ts'
import { isInstalled } from '../support/installed.ts'
import { temporaryDirectory } from '../support/scratch.ts'

const run = promisify(execFile)
const read = (file: string) => readFile(join('deploy', file), 'utf8')
const settings: readonly string[] = settingNames

interface Compose {
  readonly services: Readonly<Record<string, Container>>
}
interface Container {
  readonly environment?: Readonly<Record<string, string>>
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
}

describe('the compose files', () => {
  const values = { SITE: 'status.example.com', POSTGRES_PASSWORD: 'p', SECRET_KEY: 'k'.repeat(64) }

  test.each(['compose.yaml', 'compose.postgres.yaml'])(
    '%s starts a confined service with settings that it accepts',
    async (file) => {
      const { services } = parse(interpolate(await read(file), values), { merge: true }) as Compose
      const instances = Object.entries(services).filter(([name]) => name.startsWith('allclear'))
      expect(instances).toHaveLength(file === 'compose.yaml' ? 1 : 2)
      for (const [, { environment = {}, read_only, cap_drop, volumes = [], tmpfs = [] }] of instances) {
        expect(Object.keys(environment).filter((name) => !settings.includes(name))).toEqual([])
        expect(() => readConfig(environment)).not.toThrow()
        expect({ read_only, cap_drop }).toEqual({ read_only: true, cap_drop: ['ALL'] })
        // The only directory to which the service writes.
        expect([...volumes, ...tmpfs].some((entry) => /^(data:)?\/data/.test(entry))).toBe(true)
      }
    },
  )

  test.each([
    [{}, 'http://localhost:4000'],
    [{ PORT: '8080' }, 'http://localhost:8080'],
    [{ PORT: '8080', BASE_URL: 'https://status.example.com' }, 'https://status.example.com'],
  ])('with %j, links lead to %s', async (values, baseUrl) => {
    const { services } = parse(interpolate(await read('compose.yaml'), values)) as Compose
    expect(services['allclear']).toMatchObject({
      environment: { BASE_URL: baseUrl },
      ports: [`${'PORT' in values ? values.PORT : 4000}:4000`],
    })
  })

  test.each([
    ['compose.yaml', ['allclear']],
    ['compose.postgres.yaml', ['allclear-1', 'allclear-2']],
  ])('the instances of %s answer to their names in its network, and to those that are added', async (file, names) => {
    const hostsOf = async (given: Record<string, string>) => {
      const { services } = parse(interpolate(await read(file), { ...values, ...given }), { merge: true }) as Compose
      return names.map((name) => readConfig(services[name]?.environment).ALLOWED_HOSTS)
    }
    expect(await hostsOf({})).toEqual(names.map(() => names))
    expect(await hostsOf({ ALLOWED_HOSTS: 'allclear,nas.lan' })).toEqual(names.map(() => ['allclear', 'nas.lan']))
  })

  test('several instances need a secret key and a password', async () => {
    const text = await read('compose.postgres.yaml')
    expect(() => interpolate(text, { SITE: 'a.example', POSTGRES_PASSWORD: 'p' })).toThrow('SECRET_KEY')
  })
})

describe('the image', () => {
  test('runs as an unprivileged user, keeps data in /data, and has a health check', async () => {
    const lines = (await read('Dockerfile')).split('\n')
    expect(lines).toContain('USER 10001:10001')
    expect(lines).toContain('VOLUME /data')
    expect(lines).toContain('STOPSIGNAL SIGTERM')
    expect(lines.some((line) => line.startsWith('HEALTHCHECK') && line.includes('["allclear", "health"]'))).toBe(true)
    expect(lines.some((line) => line === 'ENTRYPOINT ["allclear"]')).toBe(true)
  })

  test('starts from one exact version of its base, and installs what the lock file names', async () => {
    const text = await read('Dockerfile')
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(bases).toHaveLength(3)
    expect(new Set(bases).size).toBe(1)
    expect(bases[0]).toMatch(/^node:24\.\d+\.\d+-bookworm-slim(@sha256:[\da-f]{64})?$/)
    const installs = text.match(/\bnpm (?:ci|i|install|add|update|exec|x)\b[^&\n]*/g) ?? []
    expect(installs.map((each) => each.trim()).filter((each) => !each.startsWith('npm ci '))).toEqual([])
    expect(installs).toHaveLength(2)
  })
})

describe('the systemd unit', () => {
  const missing = isInstalled('systemd-analyze') ? null : 'systemd is not installed'

  test('sets settings that the service accepts', async () => {
    const assignments = [...(await read('allclear.service')).matchAll(/^Environment=(.*)$/gm)].flatMap(
      ([, line = '']) => line.split(' ').map((each) => each.split('=')[0] ?? ''),
    )
    expect(assignments.filter((name) => !/^(MALLOC_|NODE_OPTIONS$)/.test(name) && !settings.includes(name))).toEqual([])
  })

  test.runIf(process.env['CI'])('systemd is installed', () => expect(missing).toBeNull())

  test.skipIf(missing !== null)('is valid and well confined', async () => {
    const directory = await temporaryDirectory()
    const file = join(directory.path, 'allclear.service')
    await writeFile(
      file,
      (await read('allclear.service')).replace('ExecStart=allclear', `ExecStart=${process.execPath}`),
    )
    const { stderr } = await run('systemd-analyze', ['verify', file])
    expect(stderr.split('\n').filter((line) => line.includes('allclear.service'))).toEqual([])
    // Of 100; lower is better.
    await run('systemd-analyze', ['security', '--offline=true', '--threshold=20', file])
    await directory.remove()
  })
})

describe('the resolver of deploy/compose.postgres.yaml', () => {
  const missing = isInstalled('unbound', '-V') ? null : 'unbound is not installed'
  test.runIf(process.env['CI'])('unbound is installed', () => expect(missing).toBeNull())

  test.skipIf(missing !== null)('has a valid configuration, which answers the network of the instances', async () => {
    const { stdout } = await run('unbound-checkconf', ['deploy/unbound/unbound.conf'])
    expect(stdout).toContain('no errors')
    const { networks } = parse(await read('compose.postgres.yaml'), { merge: true })
    expect(networks.default.ipam.config).toEqual([{ subnet: '172.31.253.0/24' }])
    expect(await read('unbound/unbound.conf')).toContain('access-control: 172.16.0.0/12 allow')
  })
})

describe('the Helm chart', () => {
  const object = (objects: readonly KubernetesObject[], kind: string) => objects.find((each) => each.kind === kind)
  const server = { databaseServer: true, existingSecret: 'allclear' }

  test('has the version of the package, and a schema of its values', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(parse(await read('helm/Chart.yaml'))).toMatchObject({ name: 'allclear', version, appVersion: version })
    const schema = JSON.parse(await read('helm/values.schema.json'))
    expect(Object.keys(parse(await read('helm/values.yaml')))).toEqual(
      expect.arrayContaining(Object.keys(schema.properties)),
    )
  })

  test.runIf(process.env['CI'])('Go and Sprig are installed', () => expect(goMissing).toBeNull())

  describe.skipIf(goMissing !== null)('rendered', () => {
    test('by default is one confined instance with a persistent volume', () => {
      const { objects, notes } = renderChart({})
      expect(objects.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'PersistentVolumeClaim', 'Service'])
      const { spec } = object(objects, 'Deployment') ?? { spec: null }
      expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      const pod = spec.template.spec
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001 })
      expect(pod.containers[0].securityContext).toEqual({
        ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      })
      expect(pod.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'status' } })
      expect(object(objects, 'PersistentVolumeClaim')?.metadata.annotations).toEqual({
        'helm.sh/resource-policy': 'keep',
      })
      expect(notes).toContain('kubectl --namespace web logs deployment/status | grep /setup')
      expect(notes).toContain('port-forward service/status 4000:80')
    })

    test('refuses several instances without a database server, a server without a secret, and other values', () => {
      expect(() => renderChart({ replicas: 2 })).toThrow('replicas is more than 1, which needs a PostgreSQL server')
      expect(() => renderChart({ replicas: 2, existingSecret: 'allclear' })).toThrow('needs a PostgreSQL server')
      expect(() => renderChart({ databaseServer: true })).toThrow('databaseServer needs existingSecret')
      expect(() => renderChart({ replicas: 0 })).toThrow('must be >= 1')
      expect(() => renderChart({ baseUrl: 'status.example.com' })).toThrow('must match pattern')
    })

    test('with a database server, replaces instances one by one, unless all have to stop first', () => {
      const { objects } = renderChart({ ...server, replicas: 3 })
      expect(objects.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'PodDisruptionBudget', 'Service'])
      const { spec } = object(objects, 'Deployment') ?? { spec: null }
      expect(spec).toMatchObject({
        replicas: 3,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      })
      expect(spec.template.spec.volumes).toContainEqual({ name: 'data', emptyDir: {} })
      expect(spec.template.spec.containers[0].envFrom).toEqual([{ secretRef: { name: 'allclear' } }])
      const stopped = renderChart({ ...server, replicas: 3, stopForUpgrade: true }).objects
      expect(object(stopped, 'Deployment')?.spec.strategy).toEqual({ type: 'Recreate' })
    })

    test('passes settings that the instance accepts', () => {
      const given = { TRUST_PROXY: '10.0.0.0/8', EVENT_RETENTION_DAYS: 1_000_000, ALLOW_PRIVATE_NETWORKS: true }
      const { objects } = renderChart({ baseUrl: 'https://status.example.com', settings: given })
      const [container] = object(objects, 'Deployment')?.spec.template.spec.containers ?? []
      const env: { name: string; value: string }[] = container.env
      expect(Object.fromEntries(env.map(({ name, value }) => [name, value]))).toEqual({
        ...{ BASE_URL: 'https://status.example.com', TRUST_PROXY: '10.0.0.0/8' },
        ...{ EVENT_RETENTION_DAYS: '1000000', ALLOW_PRIVATE_NETWORKS: 'true' },
        ALLOWED_HOSTS: 'status,status.web,status.web.svc,status.web.svc.cluster.local',
      })
      expect(env.filter(({ name }) => !settings.includes(name))).toEqual([])
      const own = renderChart({ settings: { ALLOWED_HOSTS: 'a.example' } })
      expect(object(own.objects, 'Deployment')?.spec.template.spec.containers[0].env).toEqual([
        { name: 'ALLOWED_HOSTS', value: 'a.example' },
      ])
    })

    test('publishes it if an ingress is enabled', () => {
      const values = { 'ingress.enabled': true, 'ingress.host': 'a.example', 'ingress.tlsSecret': 'a-tls' }
      const ingress = object(renderChart(values).objects, 'Ingress')
      expect(ingress?.spec.tls).toEqual([{ hosts: ['a.example'], secretName: 'a-tls' }])
      expect(ingress?.spec.rules[0]).toMatchObject({
        host: 'a.example',
        http: { paths: [{ backend: { service: { name: 'status', port: { name: 'http' } } } }] },
      })
    })
  })
})
