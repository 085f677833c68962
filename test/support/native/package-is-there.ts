import { findPackage } from '../../../lib/session/native/package.js';

/** @throws an error that says how this repository gets the package, which is none of its dependencies */
export function nativePackage(): string {
  try {
    return findPackage();
  } catch (cause) {
    throw new Error('These tests need the npm package zookeeper: run npm run native:install first', { cause });
  }
}
