"""Runs a program on a pseudo-terminal: pseudo-terminal.py COLUMNS ROWS PROGRAM [ARGS…]

What the terminal shows goes to stdout. Each line of stdin is an order: `key TEXT` types it, `size COLUMNS ROWS` resizes the
terminal. At the end a line `exit CODE echo on|off` follows, with whether the terminal still echoes.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

columns, rows, *program = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(program[0], program)


def resize(columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', int(rows), int(columns), 0, 0))


resize(columns, rows)
inputs = [terminal, sys.stdin.fileno()]
waiting = b''
while True:
    readable, _, _ = select.select(inputs, [], [])
    if terminal in readable:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            data = b''
        if not data:
            break
        os.write(1, data)
    if sys.stdin.fileno() in readable:
        data = os.read(sys.stdin.fileno(), 65536)
        if not data:
            inputs.remove(sys.stdin.fileno())
        *orders, waiting = (waiting + data).split(b'\n')
        for order in orders:
            name, _, value = order.decode().partition(' ')
            if name == 'key':
                os.write(terminal, value.encode().decode('unicode_escape').encode())
            else:
                resize(*value.split())
_, status = os.waitpid(pid, 0)
try:
    echo = 'on' if termios.tcgetattr(terminal)[3] & termios.ECHO else 'off'
except termios.error:
    echo = 'gone'
os.write(1, f'\nexit {os.waitstatus_to_exitcode(status)} echo {echo}\n'.encode())
