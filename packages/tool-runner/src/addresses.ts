import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ToolError } from './tool-error.js'

export interface Address {
  readonly address: string
  readonly family: number
}

/** The addresses of the host of a URL (`[::1]` in brackets). Throws ToolError where it has none. */
export async function addressesOf(hostname: string): Promise<readonly Address[]> {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }]
  try {
    return await lookup(host, { all: true })
  } catch (error) {
    throw new ToolError(`${host} can't be found: ${(error as NodeJS.ErrnoException).code ?? error}`)
  }
}

/** Whether an address is anything but one of the public internet: this machine, a private network, a metadata service, one that stands for another address. */
export function isPrivate({ address }: Address): boolean {
  // process: ::ffff:127.0.0.1 is 127.0.0.1.
  return ipaddr.process(address.replace(/%.*$/, '')).range() !== 'unicast'
}

/** Whether a name is one that the public internet does not have, by how it is written. Source: RFC 6761, 6762, 8375, and what networks use. */
export function isPrivateName(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return !name.includes('.') || /\.(local|localhost|internal|intranet|lan|home|corp|private|arpa|test|invalid|onion)$/.test(name)
}
