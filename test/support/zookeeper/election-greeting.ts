import { blindInspector, type InspectorFactory } from '../proxy/inspector.js';

const PROTOCOL_VERSIONS: readonly bigint[] = [-65_536n, -65_535n];
const ADDRESS_LENGTH_OFFSET = 8 + 8;
const ADDRESS_OFFSET = ADDRESS_LENGTH_OFFSET + 4;

/**
 * Puts another address into the greeting of an election connection.
 *
 * A server introduces itself with its own election address, and a peer with a higher id hangs up and dials that address
 * instead of the one in its configuration: past the proxies. So the greeting names the proxy that this peer is to use.
 */
export function introduceAs(addressOf: () => string): InspectorFactory {
  return (controls) => {
    const blind = blindInspector(controls);
    let pending: Buffer | undefined = Buffer.alloc(0);
    return {
      toServer: (chunk) => {
        if (pending === undefined) return [{ bytes: chunk }];
        pending = Buffer.concat([pending, chunk]);
        const greeting = withAddress(pending, addressOf());
        if (greeting === undefined) return [];
        pending = undefined;
        return [{ bytes: greeting }];
      },
      toClient: (chunk) => blind.toClient(chunk),
    };
  };
}

/** The greeting with the other address and all behind it; `undefined` while it is incomplete. */
function withAddress(bytes: Buffer, address: string): Buffer | undefined {
  if (bytes.length < 8) return undefined;
  if (!PROTOCOL_VERSIONS.includes(bytes.readBigInt64BE(0))) return bytes;
  if (bytes.length < ADDRESS_OFFSET) return undefined;
  const end = ADDRESS_OFFSET + bytes.readInt32BE(ADDRESS_LENGTH_OFFSET);
  if (bytes.length < end) return undefined;
  const length = Buffer.alloc(4);
  length.writeInt32BE(Buffer.byteLength(address));
  return Buffer.concat([bytes.subarray(0, ADDRESS_LENGTH_OFFSET), length, Buffer.from(address), bytes.subarray(end)]);
}
