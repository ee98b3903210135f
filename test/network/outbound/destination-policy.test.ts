import { describe, expect, test } from 'vitest'
import {
  allowsPrivate,
  isMetadataName,
  noPrivateTargets,
  reachOf,
  targetIssue,
} from '../../../src/network/outbound/destination-policy.ts'

const publicAddresses = ['93.184.216.34', '2606:4700::1111']
const lan = ['127.0.0.1', '::1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1']
const unusable = [
  '0.0.0.0',
  '::',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
  '240.0.0.1',
  '169.254.169.254',
  '169.254.170.2',
  'fe80::1',
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
  '64:ff9b::7f00:1',
  '2002:7f00:1::1',
  '::ffff:0:7f00:1',
  '192.0.2.1',
]

describe('the guard', () => {
  test('allows public addresses to everyone', () => {
    expect(publicAddresses.filter((address) => reachOf(address) !== 'public')).toEqual([])
  })

  test('leaves private networks and this machine to the operator', () => {
    expect(lan.filter((address) => reachOf(address) !== 'private')).toEqual([])
  })

  test('never allows metadata services, embedded addresses and multicast', () => {
    expect(unusable.filter((address) => reachOf(address) !== 'never')).toEqual([])
  })

  test('knows the names of metadata services', () => {
    expect(['metadata.google.internal', 'metadata.goog'].filter((name) => !isMetadataName(name))).toEqual([])
    expect(isMetadataName('metadata.example.com')).toBe(false)
  })
})

describe('a policy', () => {
  test.each([true, false])('of one answer (%s) is that of every owner', async (answer) => {
    for (const owner of ['org_a', 'org_b', null]) expect(await allowsPrivate(answer, owner)).toBe(answer)
  })

  test('by owner answers for each owner, and for what no owner chose', async () => {
    const policy = async (owner: string | null) => owner === 'org_a'
    expect(await allowsPrivate(policy, 'org_a')).toBe(true)
    expect(await allowsPrivate(policy, 'org_b')).toBe(false)
    expect(await allowsPrivate(policy, null)).toBe(false)
  })
})

test('a refusal says who can allow the target only if someone can', () => {
  const rule = { ...noPrivateTargets, hint: 'ask Ann' }
  const issue = (isPrivate: boolean) => targetIssue(['url'], 'must be public', { isPrivate, rule })
  expect(issue(true)).toEqual({ path: ['url'], message: 'must be public; ask Ann', kind: 'PRIVATE_TARGET' })
  expect(issue(false)).toEqual({ path: ['url'], message: 'must be public' })
})
