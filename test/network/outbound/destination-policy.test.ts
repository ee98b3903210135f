import { describe, expect, test } from 'vitest'
import { mayReach } from '../../../src/network/outbound/destination-policy.ts'

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
  test('allows public addresses', () => {
    expect(publicAddresses.filter((address) => !mayReach(address, false) || !mayReach(address, true))).toEqual([])
  })

  test('allows private networks and this machine only when configured', () => {
    expect(lan.filter((address) => mayReach(address, false))).toEqual([])
    expect(lan.filter((address) => !mayReach(address, true))).toEqual([])
  })

  test('never allows metadata services, embedded addresses and multicast', () => {
    expect(unusable.filter((address) => mayReach(address, false) || mayReach(address, true))).toEqual([])
  })
})
