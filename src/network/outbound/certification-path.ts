import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'

/** The maximum length of a path. Usual ones have two to four certificates, OpenSSL's maximum is 100. */
const MAX_PATH = 10

/** The maximum number of certificates that are looked at, which is OpenSSL's maximum. */
const MAX_SENT = 100

/** Returns whether a trusted certificate issued a certificate. */
type IsIssuedByTrusted = (certificate: X509Certificate) => boolean

/**
 * Returns the certificates from a server's own up to the one that a trusted certificate issued, or as far as it goes.
 * Others that it sends do not count: some servers send an expired certificate for old clients, beside the path that
 * today's clients take.
 * @param own the server's own certificate, from a connection.
 */
export function certificationPath(own: X509Certificate, isIssuedByTrusted: IsIssuedByTrusted): X509Certificate[] {
  const sent: X509Certificate[] = []
  for (let each = own.issuerCertificate; each && sent.length < MAX_SENT; each = each.issuerCertificate) sent.push(each)
  const path = [own]
  for (let last = own; path.length < MAX_PATH && sent.length > 0 && !isIssuedByTrusted(last); ) {
    const issuers = sent.filter((each) => !path.includes(each) && endOf(each) > 0 && last.checkIssued(each))
    // As OpenSSL does, prefers one that has not expired.
    const [issuer] = issuers.sort((a, b) => endOf(b) - endOf(a))
    if (issuer === undefined) break
    path.push(issuer)
    last = issuer
  }
  return path
}

/** Returns the certificate of a path that expires first. */
export function firstToExpire(path: readonly X509Certificate[]): X509Certificate | undefined {
  return path.reduce((first, each) => (endOf(each) < endOf(first) ? each : first), path[0] as X509Certificate)
}

/** Milliseconds since 1970; NaN: the certificate has no valid date. */
const endOf = ({ validTo }: X509Certificate) => Date.parse(validTo)

/** Returns the common name of a certificate, or the first part of its name, in one line of at most 64 characters. */
export function commonName({ subject }: X509Certificate): string {
  const [, name = subject.split('\n')[0] ?? ''] = /^CN=(.*)$/m.exec(subject) ?? []
  // RFC 5280 §A.1, ub-common-name.
  return [...name.replace(/[\s\p{C}]+/gu, ' ').trim()].slice(0, 64).join('')
}

/** Creates the check against trusted certificates. @param ca those in PEM; absent: Node's. */
export function createTrust(ca: string | undefined): IsIssuedByTrusted {
  let bySubject: Map<string, X509Certificate[]> | null = null
  return (certificate) => {
    // Read when they are first needed: most servers are found without.
    bySubject ??= readTrusted(ca === undefined ? rootCertificates : (ca.match(PEM) ?? []))
    return (bySubject.get(certificate.issuer) ?? []).some((each) => certificate.checkIssued(each))
  }
}

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function readTrusted(pems: readonly string[]): Map<string, X509Certificate[]> {
  const bySubject = new Map<string, X509Certificate[]>()
  for (const pem of pems) {
    const certificate = new X509Certificate(pem)
    const { subject } = certificate
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), certificate])
  }
  return bySubject
}
