import { createAuthority } from '/work/wt/outbound/test/support/certificate.ts'
import { createServer } from 'node:tls'
import { longChain, rsaSigner, dsaSigner, curveSigner, constraints, manyNames, largeGroup, impossibleDates, oddCertificate } from '/work/wt/outbound/test/support/hostile-certificate.ts'
const names = (n:number)=>Array.from({length:n},(_,i)=>`${i.toString(36)}.a`)
const kinds: Record<string, () => object> = {
  dh: () => ({ ...createAuthority().issue(['localhost'], { hasRsaKey: true }), dhparam: largeGroup(), ciphers: 'DHE', maxVersion: 'TLSv1.2' }),
  rsa3072: () => longChain(rsaSigner(3072, 3072)),
  rsa16k: () => longChain(rsaSigner(16384, 64)),
  dsa: () => longChain(dsaSigner()),
  sect571: () => longChain(curveSigner('sect571r1')),
  p521: () => longChain(curveSigner('P-521')),
  constraints: () => longChain(curveSigner('P-256'), { authority: { extensions: constraints(names(650)) }, leaf: { extensions: [manyNames(names(1300))] } }),
  sans: () => oddCertificate({ extensions: [manyNames(names(14000))] }),
  emptysans: () => oddCertificate({ extensions: [manyNames(Array(49000).fill(''))] }),
  quotes: () => oddCertificate({ extensions: [manyNames(['a"b', ...Array(33000).fill('a')])] }),
  dates: () => oddCertificate({ validity: impossibleDates }),
}
const kind = process.argv[2]!
const s = createServer({ ...kinds[kind]!() } as object, (x) => { x.on('error', () => {}); x.end('hi') }).listen(0, '127.0.0.1', () => process.send!({ port: (s.address() as any).port }))
s.on('tlsClientError', (e) => console.log('srv', e.message.slice(0, 100)))
