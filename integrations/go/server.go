package idptest

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var startWords = []string{"start", "--memory", "--port", "0", "--json", "--until-stdin-closes"}

// How long the server may take to start.
const patience = time.Minute

// A server in memory and on a free port. Its standard input is a pipe that the system closes when this process ends, and then it ends.
type server struct {
	issuer     string
	adminToken string
	made       atomic.Int64
	// A pipe that is garbage is closed.
	stdin io.WriteCloser
}

var startOnce = sync.OnceValues(start)

var wordPattern = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)

// The words of the command: DEV_IDP, else dev-idp on PATH, or in node_modules/.bin of this folder or one above it.
func findCommand() ([]string, error) {
	if named := strings.TrimSpace(os.Getenv("DEV_IDP")); named != "" {
		// A path may contain spaces.
		if program, err := exec.LookPath(named); err == nil {
			return []string{program}, nil
		}
		var words []string
		for _, match := range wordPattern.FindAllStringSubmatch(named, -1) {
			words = append(words, match[1]+match[2]+match[3])
		}
		program, err := exec.LookPath(words[0])
		if err != nil {
			return nil, fmt.Errorf("DEV_IDP is %q, but there is no command %q. Set it to the path of dev-idp", named, words[0])
		}
		return append([]string{program}, words[1:]...), nil
	}
	if program, err := exec.LookPath("dev-idp"); err == nil {
		return []string{program}, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for folder := here; ; folder = filepath.Dir(folder) {
		if program, err := exec.LookPath(filepath.Join(folder, "node_modules", ".bin", "dev-idp")); err == nil {
			return []string{program}, nil
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	return nil, fmt.Errorf("dev-idp was not found on PATH, or in node_modules/.bin of %s and the folders above it. "+
		"Install it with Node.js 20.19 or newer: npm install --save-dev dev-idp. Or set DEV_IDP to the path of its command", here)
}

func start() (*server, error) {
	words, err := findCommand()
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 16)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	started := &server{adminToken: hex.EncodeToString(secret)}
	command := exec.Command(words[0], append(words[1:], startWords...)...)
	command.Env = append(os.Environ(), "IDP_ADMIN_TOKEN="+started.adminToken)
	var said bytes.Buffer
	command.Stderr = &said
	if started.stdin, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(patience, func() { _ = command.Process.Kill() })
	output := bufio.NewReader(stdout)
	line, _ := output.ReadBytes('\n')
	late.Stop()
	var ready struct{ Issuer string }
	if json.Unmarshal(line, &ready) != nil || ready.Issuer == "" {
		_ = command.Process.Kill()
		_ = command.Wait()
		return nil, errors.New(strings.Join(append(words, startWords...), " ") + " did not start a server. It wrote: " + said.String())
	}
	started.issuer = ready.Issuer
	// The log of requests. A pipe that nobody reads would stop the server.
	go func() { _, _ = io.Copy(io.Discard, output) }()
	return started, nil
}
