import { describe, expect, it } from '@jest/globals';
import { AddressBook } from '../../../../lib/session/wire/socket-dialer.js';

const first = () => 0;

describe('AddressBook', () => {
  it('takes the addresses of a name in rotation, however the name server orders them', () => {
    const book = new AddressBook(first);
    const taken = [
      book.choose('zk', ['10.0.0.1', '10.0.0.2', '10.0.0.3']),
      book.choose('zk', ['10.0.0.3', '10.0.0.1', '10.0.0.2']),
      book.choose('zk', ['10.0.0.2', '10.0.0.1', '10.0.0.3']),
      book.choose('zk', ['10.0.0.2', '10.0.0.3', '10.0.0.1']),
    ];

    expect(taken).toEqual([
      ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
      ['10.0.0.2', '10.0.0.3', '10.0.0.1'],
      ['10.0.0.3', '10.0.0.1', '10.0.0.2'],
      ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
    ]);
  });

  it('goes on when addresses come and go', () => {
    const book = new AddressBook(first);
    book.choose('zk', ['10.0.0.2', '10.0.0.3']);

    expect(book.choose('zk', ['10.0.0.1', '10.0.0.4'])).toEqual(['10.0.0.4', '10.0.0.1']);
    expect(book.choose('zk', ['10.0.0.1'])).toEqual(['10.0.0.1']);
  });

  it('begins where chance says, so that a fleet does not begin at one server', () => {
    const book = new AddressBook(() => 0.99);

    expect(book.choose('zk', ['10.0.0.1', '10.0.0.2', '10.0.0.3'])).toEqual(['10.0.0.3', '10.0.0.1', '10.0.0.2']);
  });

  it('takes IPv4 first and the other family after it, until that one has given a session', () => {
    const book = new AddressBook(first);
    expect(book.choose('localhost', ['::1', '127.0.0.1'])).toEqual(['127.0.0.1', '::1']);

    book.gaveSession('localhost', '::1');
    expect(book.choose('localhost', ['127.0.0.1', '::1'])).toEqual(['::1', '127.0.0.1']);
    expect(book.choose('elsewhere', ['127.0.0.1', '::1'])).toEqual(['127.0.0.1', '::1']);
  });

  it('takes the other family first after a dial that gave no session', () => {
    const book = new AddressBook(first);
    book.choose('localhost', ['127.0.0.1', '::1']);
    expect(book.choose('localhost', ['127.0.0.1', '::1'])).toEqual(['::1', '127.0.0.1']);
    expect(book.choose('localhost', ['127.0.0.1', '::1'])).toEqual(['127.0.0.1', '::1']);
    expect(book.choose('localhost', ['127.0.0.1'])).toEqual(['127.0.0.1']);
  });

  it('stays with the family that gave a session, and takes its next address', () => {
    const book = new AddressBook(first);
    const both = ['10.0.0.1', '10.0.0.2', 'fd00::1', 'fd00::2'];
    book.gaveSession('zk', 'fd00::2');
    expect(book.choose('zk', both)).toEqual(['fd00::1', 'fd00::2', '10.0.0.1', '10.0.0.2']);

    book.gaveSession('zk', 'fd00::1');
    expect(book.choose('zk', ['10.0.0.1', '10.0.0.2'])).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it('chooses nothing of nothing', () => {
    expect(new AddressBook(first).choose('zk', [])).toEqual([]);
  });
});
